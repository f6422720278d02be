//! Name resolution, logical plan, statistics, cost, join order, physical plan
