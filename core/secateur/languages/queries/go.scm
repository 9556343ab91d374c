[(function_declaration) (method_declaration)] @function
(type_declaration) @types
(import_declaration) @imports
(import_spec) @import
(package_clause) @package
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (field_identifier) @call))
(call_expression function: (parenthesized_expression (identifier) @call))
(composite_literal type: (type_identifier) @call)
(composite_literal type: (qualified_type name: (type_identifier) @call))
(composite_literal type: (generic_type type: (type_identifier) @call))
(composite_literal type: (generic_type type: (qualified_type name: (type_identifier) @call)))
(type_conversion_expression type: (generic_type type: (type_identifier) @call))
(type_conversion_expression type: (generic_type type: (qualified_type name: (type_identifier) @call)))
[(parameter_declaration) (variadic_parameter_declaration) (var_spec) (const_spec) (short_var_declaration) (range_clause)
 (receive_statement)
 (type_switch_statement) (type_parameter_declaration)] @binding
[(if_statement) (for_statement) (expression_case) (type_case) (communication_case) "&&" "||"] @branch
(comment) @note
