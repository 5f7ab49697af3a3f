// Gives the visitor a file that the page made.

/** @param {string} name @param {string} type @param {string} content */
export function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
