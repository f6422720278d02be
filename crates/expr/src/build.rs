//! The binder's entry points. Each makes an expression from operands, inserts the conversions and
//! chooses the kernels according to MariaDB's rules.

mod arith;
mod between;
mod call;
mod case;
mod compare;
mod field;
mod hold;
mod like;
mod logic;
mod row;
mod special;

pub(crate) use arith::{Numeric, to_number};
pub use arith::{arithmetic, bit_not, negate, widen_variable};
pub use between::{between, in_list};
pub use call::{cast, collate, convert_using, function_call, function_call_naming};
pub use case::{case_searched, case_simple, coalesce, decode, if_else, nullif, nvl2};
pub use compare::{CompareTypes, compare_types, comparison};
pub use field::for_comparison_with_key;
pub use like::{like, like_escaped_by, like_stored_without_escape, regexp};
pub use logic::{
    and, exists, is_not_null, is_null, is_truth, not, or, quantified, scalar_subquery, xor,
};
pub use special::{
    DynamicValue, TrimSide, char_using, column_add, column_get, extract, get_format, interval_add,
    interval_day_second, locate, position, timestampadd, timestampdiff, transaction_at,
    transaction_sees, transaction_sees_or_is, transaction_time, trim, weight_string,
};

pub use crate::cast::{is_extreme_of_texts, unround, wider_scale};
pub use crate::operator::Arithmetic;
pub use crate::refuse::{refuse_condition, refuse_types};
