[(class_declaration) (interface_declaration) (struct_declaration) (record_declaration) (enum_declaration)] @class
[(method_declaration body: (_)) (constructor_declaration body: (_)) (destructor_declaration body: (_))
 (operator_declaration body: (_))
 (conversion_operator_declaration body: (_)) (local_function_statement body: (_))] @function
[(property_declaration) (indexer_declaration)] @property
[(namespace_declaration) (file_scoped_namespace_declaration)] @namespace
(using_directive) @using
(invocation_expression function: (identifier) @call)
(invocation_expression function: (generic_name . (identifier) @call))
(invocation_expression function: (member_access_expression name: (identifier) @call))
(invocation_expression function: (member_access_expression name: (generic_name . (identifier) @call)))
(invocation_expression function: (conditional_access_expression (member_binding_expression name: (identifier) @call)))
(invocation_expression function: (conditional_access_expression (member_binding_expression name: (generic_name .
 (identifier) @call))))
(object_creation_expression type: (identifier) @call)
(object_creation_expression type: (generic_name . (identifier) @call))
(object_creation_expression type: (qualified_name name: (identifier) @call))
(parameter) @typed
(variable_declaration) @variables
[(if_statement) (for_statement) (foreach_statement) (while_statement) (do_statement) (switch_section)
 (switch_expression_arm) (catch_clause)
 (conditional_expression) "&&" "||" "??"] @branch
(comment) @note
