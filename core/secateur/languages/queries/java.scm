[(class_declaration) (interface_declaration) (enum_declaration) (record_declaration) (annotation_type_declaration)]
 @class
[(method_declaration body: (_)) (constructor_declaration) (compact_constructor_declaration)] @function
(method_declaration !body) @declared
(object_creation_expression (class_body)) @anonymous
(enum_constant body: (_)) @constant
(package_declaration) @package
(import_declaration) @import
(method_invocation name: (identifier) @call)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type . (type_identifier) @call))
(object_creation_expression type: (scoped_type_identifier (type_identifier) @call .))
(object_creation_expression type: (generic_type . (scoped_type_identifier (type_identifier) @call .)))
(local_variable_declaration) @variables
[(field_declaration) (constant_declaration)] @field
[(type_parameter) (formal_parameter) (spread_parameter) (lambda_expression) (catch_formal_parameter)
 (enhanced_for_statement) (resource)
 (local_variable_declaration) (field_declaration) (instanceof_expression) (type_pattern) (record_pattern_component)]
  @binding
(object_creation_expression (class_body)) @binding
[(if_statement) (for_statement) (enhanced_for_statement) (while_statement) (do_statement) (switch_label) (catch_clause)
 (ternary_expression) "&&" "||"] @branch
[(line_comment) (block_comment)] @note
