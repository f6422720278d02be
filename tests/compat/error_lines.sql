# Lines of syntax errors are counted from the first word.
PREPARE s FROM '\nselect 1 x x';
PREPARE s FROM ' \n\t\nselect 1\n x x';
EXECUTE IMMEDIATE '\n\n/* a\n */ select 1 x x\n';
EXECUTE IMMEDIATE '\n-- c\nselect 1 x x';
EXECUTE IMMEDIATE 'select 1\n\n x x\n\n';
EXECUTE IMMEDIATE '\n\n';
