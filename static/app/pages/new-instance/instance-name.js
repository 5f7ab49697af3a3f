// The rule for names of instances, as the API has it.

const pattern = /^(?!bulk$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** @param {string} name */
export function isInstanceName(name) {
  return pattern.test(name)
}
