[(class_definition) (mixin_declaration (identifier) @name) (extension_declaration) (enum_declaration)] @class
[(method_signature [(function_signature name: (_) @name) (getter_signature name: (_) @name)
  (setter_signature name: (_) @name)])
 (method_signature (constructor_signature name: (identifier) @name))
 (method_signature (factory_constructor_signature (identifier) @name))
 (declaration (constructor_signature name: (identifier) @name))] @function
(program [(function_signature name: (_) @name) (getter_signature name: (_) @name) (setter_signature name: (_) @name)]
 @function)
([(method_signature) (function_signature) (getter_signature) (setter_signature)] . (function_body) @body)
(class_definition superclass: (superclass (type_identifier) @base))
(class_definition superclass: (superclass (mixins (type_identifier) @base)))
(class_definition interfaces: (interfaces (type_identifier) @base))
(import_or_export) @import
((identifier) @call . (selector (argument_part)))
((selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
((selector (conditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
(new_expression (type_identifier) @call)
(const_object_expression (type_identifier) @call)
[(if_statement) (for_statement) (while_statement) (do_statement) (switch_statement_case) (catch_clause)
 (conditional_expression) (if_element) (for_element) (logical_and_operator) (logical_or_operator)] @branch
[(comment) (documentation_comment) (annotation)] @note
(mixin_declaration (class_body) @body)
