// Compiles each schema once per process: many routes have the same answers, and one process may create several servers, as tests
// do. The schemas are those of the routes, so their number has a limit.

import { AjvCompiler } from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Build<Shared, Options, Definition, Compiled> = (
  shared: Shared,
  options?: Options,
) => (definition: Definition) => Compiled

function compileOnce<Shared, Options, Definition, Compiled>(
  build: Build<Shared, Options, Definition, Compiled>,
): Build<Shared, Options, Definition, Compiled> {
  const compiled = new Map<string, Compiled>()
  return (shared, options) => {
    const compile = build(shared, options)
    return (definition) => {
      // Fastify hands over the schema with its route, unlike the type of the validators says.
      const { schema } = definition as { schema?: unknown }
      const key = JSON.stringify([shared, options, schema])
      const known = compiled.get(key) ?? compile(definition)
      compiled.set(key, known)
      return known
    }
  }
}

/** For the option `schemaController` of a server. */
export const compilersFactory = {
  buildValidator: compileOnce(AjvCompiler()),
  buildSerializer: compileOnce(SerializerSelector()),
}
