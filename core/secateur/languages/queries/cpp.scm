(class_specifier body: (_)) @class
(namespace_definition) @namespace
(template_declaration) @template
(call_expression function: (qualified_identifier name: (identifier) @call))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @call)))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name:
 (identifier) @call))))
(template_function name: (identifier) @call)
(template_method name: (field_identifier) @call)
(new_expression type: (type_identifier) @call)
(new_expression type: (qualified_identifier name: (type_identifier) @call))
(new_expression type: (template_type name: (type_identifier) @call))
[(for_range_loop) (catch_clause)] @branch
