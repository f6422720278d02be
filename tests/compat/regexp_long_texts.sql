# A group repeated a thousand times: the JIT's stack does not suffice.
select repeat('ab',500) regexp '^(a|b)*$';
select repeat('word ',1000) regexp '^([a-z]+ ?)*$', repeat('"a","b",',500) regexp '^("[^"]*",)*$';
select length(regexp_replace(repeat('ab',2000),'(a|b)*','x')), regexp_instr(concat(repeat('ab',2000),'c'),'(a|b)*c'), length(regexp_substr(repeat('ab',3000),'(a|b)*'));
select repeat('ab',20000) regexp '^(a|b)*$', repeat('ab',50000) regexp '^(a|b)*$';
select repeat('a',30) regexp '^(a+)+$', concat(repeat('a',3000),'b') regexp '^(?:a|b)*$', concat(repeat('xy',3000),'b') regexp '^(?:x(y))*$';
select concat(repeat('a',25),'c') regexp '^(a+)+$';
