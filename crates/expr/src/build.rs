//! The binder's entry points: each makes an expression from operands, inserting the conversions
//! and choosing the kernels MariaDB's rules ask for.

mod arith;
mod between;
mod call;
mod case;
mod compare;
mod digits;
mod field;
mod fixed_binary;
mod like;
mod logic;
mod row;
mod special;

pub use arith::{Arithmetic, arithmetic, bit_not, negate, widen_variable};
pub(crate) use arith::{Numeric, double_type, integer_type, to_number};
pub use between::{between, in_list};
pub use call::{cast, collate, convert_using, function_call, function_call_naming};
pub use case::{case_searched, case_simple, coalesce, decode, if_else, nullif, nvl2};
pub use compare::{CompareTypes, compare_types, comparison};
pub use digits::{is_extreme_of_texts, unround, wider_scale};
pub use field::for_comparison_with_key;
pub(crate) use field::year_of;
pub(crate) use fixed_binary::{parameter_name, refuse_any, refuse_arguments};
pub use fixed_binary::{refuse_condition, refuse_types};
pub use like::{like, like_escaped_by, regexp};
pub(crate) use logic::boolean_type;
pub use logic::{
    and, exists, is_not_null, is_null, is_truth, not, or, quantified, scalar_subquery, xor,
};
pub(crate) use row::{refuse_any_row, refuse_unified_row};
pub use special::{
    DynamicValue, TrimSide, char_using, column_add, column_get, extract, get_format, interval_add,
    interval_day_second, locate, position, timestampadd, timestampdiff, trim, weight_string,
};
