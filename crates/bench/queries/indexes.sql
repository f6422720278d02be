ALTER TABLE lineitem ADD INDEX i_l_shipdate (l_shipdate), ADD INDEX i_l_partkey_suppkey (l_partkey, l_suppkey), ADD INDEX i_l_suppkey (l_suppkey), ADD INDEX i_l_receiptdate (l_receiptdate), ADD INDEX i_l_orderkey_quantity (l_orderkey, l_quantity), ADD INDEX i_l_commitdate (l_commitdate);
ALTER TABLE orders ADD INDEX i_o_orderdate (o_orderdate), ADD INDEX i_o_custkey (o_custkey);
ALTER TABLE customer ADD INDEX i_c_nationkey (c_nationkey);
ALTER TABLE partsupp ADD INDEX i_ps_partkey (ps_partkey), ADD INDEX i_ps_suppkey (ps_suppkey);
ALTER TABLE supplier ADD INDEX i_s_nationkey (s_nationkey);
ALTER TABLE nation ADD INDEX i_n_regionkey (n_regionkey);
