// Runs steps that must all run, whether or not one of them fails.

/** Runs the steps in order. Then throws the failure; several failures become one AggregateError, the first one first. */
export async function runAll(steps: readonly (() => Promise<void> | void)[]): Promise<void> {
  const errors: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} steps failed`, { cause: errors[0] })
}
