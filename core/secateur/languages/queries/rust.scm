(function_item) @function
(macro_definition) @macro
[(struct_item) (enum_item) (union_item) (trait_item)] @class
(impl_item) @impl
(mod_item) @module
(use_declaration) @use
(extern_crate_declaration) @crate
(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier name: (identifier) @call))
(call_expression function: (field_expression field: (field_identifier) @call))
(generic_function function: (identifier) @call)
(generic_function function: (scoped_identifier name: (identifier) @call))
(generic_function function: (field_expression field: (field_identifier) @call))
(struct_expression name: (type_identifier) @call)
(struct_expression name: (scoped_type_identifier name: (type_identifier) @call))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier name: (identifier) @call))
(token_tree (identifier) @call . (token_tree "("))
[(type_parameter) (where_predicate) (parameter) (closure_expression) (let_declaration) (let_condition) (match_arm)
 (for_expression) (const_item)
 (static_item)] @binding
(macro_invocation (token_tree)) @binding
(type_item) @alias
[(if_expression) (while_expression) (for_expression) (loop_expression) (match_arm) "&&" "||"] @branch
[(line_comment) (block_comment) (attribute_item)] @note
