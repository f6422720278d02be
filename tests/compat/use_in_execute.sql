# A USE that a prepared statement runs sets the database's character set as well.
CREATE DATABASE entered CHARACTER SET latin2 COLLATE latin2_croatian_ci;
EXECUTE IMMEDIATE 'USE entered';
SELECT DATABASE(), @@character_set_database, @@collation_database;
USE mysql;
PREPARE enters FROM 'USE entered';
SELECT DATABASE();
EXECUTE enters;
SELECT DATABASE(), @@character_set_database, @@collation_database;
EXECUTE enters;
SELECT DATABASE(), @@character_set_database, @@collation_database;
EXECUTE IMMEDIATE 'USE nowhere';
SELECT DATABASE(), @@character_set_database, @@collation_database;
EXECUTE IMMEDIATE 'DROP DATABASE entered';
SELECT DATABASE(), @@character_set_database = @@character_set_server;
