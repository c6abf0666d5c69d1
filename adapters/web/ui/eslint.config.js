import tseslint from "typescript-eslint";

const noWire = {
  group: ["@connectrpc/*", "@bufbuild/*", "**/gen/**"],
  message: "Only wire/ knows the wire.",
};

export default tseslint.config(
  { ignores: ["node_modules", "src/gen", "public"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ["eslint.config.js"] } } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "@typescript-eslint/consistent-type-assertions": ["error", { assertionStyle: "never" }],
      "@typescript-eslint/no-non-null-assertion": "error",
      "@typescript-eslint/ban-ts-comment": ["error", { "ts-expect-error": true, "ts-ignore": true, "ts-nocheck": true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "no-restricted-imports": ["error", { patterns: [noWire] }],
      "no-restricted-syntax": [
        "error",
        { selector: "JSXAttribute[name.name='innerHTML']", message: "Text is text; nothing is parsed as HTML." },
        { selector: "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]", message: "Text is text; nothing is parsed as HTML." },
        { selector: "JSXAttribute[name.name='style'] > Literal", message: "The security policy allows no style attribute; use a class." },
      ],
      "max-lines": ["error", { max: 400, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ["src/wire/**", "e2e/**"], rules: { "no-restricted-imports": "off" } },
  { files: ["eslint.config.js"], extends: [tseslint.configs.disableTypeChecked] },
);
