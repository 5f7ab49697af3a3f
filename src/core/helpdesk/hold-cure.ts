// What an operator can do about a helpdesk that takes nothing. The reason of the hold says what the helpdesk answered.

const check =
  'look at the check list of an instance that uses this helpdesk inbox: it says what to change. ' +
  'Messages wait meanwhile, and the service asks the helpdesk every 30 s'

export function cureOfHold(reason: string): string {
  if (reason.startsWith('no helpdesk is configured')) {
    return 'set DOWNSTREAM_*, or give the tenant of the instance a helpdesk. Messages wait meanwhile'
  }
  return check
}
