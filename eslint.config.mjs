import eslint from '@eslint/js'
import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

export default defineConfig(
  { ignores: ['node_modules/', 'data/', '_site/', 'static/app/vendor/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.mjs'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['*.mjs'] } } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // node:test registers tests through promises it awaits itself.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'it', 'describe', 'suite'], package: 'node:test' },
          ],
        },
      ],
      'no-console': 'error',
    },
  },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: { eqeqeq: ['error', 'always', { null: 'ignore' }] },
  },
  // Any Node reads the launcher, also one that is too old for the service.
  {
    files: ['bin/**/*.cjs'],
    languageOptions: {
      ecmaVersion: 5,
      sourceType: 'commonjs',
      globals: Object.fromEntries(
        ['__dirname', '__filename', 'clearInterval', 'console', 'process', 'require', 'setInterval', 'setTimeout'].map(
          (name) => [name, 'readonly'],
        ),
      ),
    },
  },
  { files: ['bin/load-program.cjs'], languageOptions: { ecmaVersion: 2020 } },
  // The pages of the browser. TypeScript checks their names and types (static/tsconfig.json).
  {
    files: ['static/**/*.js', 'demo/page/**/*.js', 'site/browser/**/*.js'],
    rules: {
      'no-undef': 'off',
      'no-console': 'error',
      'no-eval': 'error',
      'no-restricted-syntax': [
        'error',
        ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'dangerouslySetInnerHTML', 'srcdoc', 'setHTMLUnsafe'].map(
          (name) => ({
            selector: `:matches(Identifier[name='${name}'], Literal[value='${name}'], TemplateElement[value.raw=/${name}/])`,
            message: 'Text of a stranger must never become markup: put it into a template as a value.',
          }),
        ),
      ],
    },
  },
  {
    files: ['bench/**', 'cli/**', 'demo/run.ts', 'scripts/**', 'sim/cli.ts', 'src/main.ts'],
    rules: { 'no-console': 'off' },
  },
)
