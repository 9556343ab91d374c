[(abstract_class_declaration) (interface_declaration) (enum_declaration)] @class
(type_alias_declaration) @alias
[(internal_module) (module)] @namespace
(public_field_definition) @field
[(property_signature) (method_signature) (abstract_method_signature)] @member
(class_body [(method_signature) (decorator)] @note)
(function_signature) @note
