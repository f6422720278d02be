SELECT JSON_VALID('nan'), JSON_VALID('nul'), JSON_VALID('[nu]'), JSON_VALID('trux'), JSON_VALID('[1,tx]');
SELECT JSON_EXTRACT('{"a":falsy}','$.b');
SELECT JSON_EXTRACT('[null,nil]','$[1]');
SELECT JSON_VALID('nè'), JSON_VALID('x'), JSON_VALID('[Null]');
