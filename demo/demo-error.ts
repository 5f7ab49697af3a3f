// A refusal that the visitor can remove. Its sentence says how.

export class DemoError extends Error {}
