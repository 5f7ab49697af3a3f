// Finds the commit of a git checkout by reading the files of git. It starts no process, because git may not be installed.

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

const smallFile = 4096
/** Room for some 50,000 references. */
const packedRefsFile = 4 * 1024 ** 2
/** A branch can be a reference to another reference. Git follows five of them. */
const mostReferences = 5

/** Undefined if the folder is no checkout, or if git keeps its references in a form that this file does not know. */
export function readGitCommit(root: string): string | undefined {
  const own = findGitFolder(root)
  if (own === undefined) return undefined
  // A worktree has a HEAD of its own and shares the references with the repository.
  const common = readText(join(own, 'commondir'))
  const shared = common === undefined ? own : resolve(own, common)
  let head = readText(join(own, 'HEAD'))
  for (let hop = 0; hop < mostReferences; hop += 1) {
    const name = referenceIn(head)
    if (name === undefined) break
    head = readText(join(own, name)) ?? readText(join(shared, name)) ?? findPacked(join(shared, 'packed-refs'), name)
  }
  return head !== undefined && isCommit(head) ? head : undefined
}

function findGitFolder(root: string): string | undefined {
  const path = join(root, '.git')
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  // In a worktree and in a submodule, .git is a file that names the folder.
  const target = /^gitdir: (.+)$/.exec(readText(path) ?? '')?.[1]
  return target === undefined ? undefined : resolve(root, target)
}

function referenceIn(head: string | undefined): string | undefined {
  const name = /^ref: (refs\/.+)$/.exec(head ?? '')?.[1]
  return name?.split('/').includes('..') ? undefined : name
}

function findPacked(file: string, name: string): string | undefined {
  const line = readText(file, packedRefsFile)
    ?.split('\n')
    .find((each) => each.endsWith(` ${name}`))
  return line?.slice(0, -name.length - 1)
}

function isCommit(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

/** The beginning of a file, without the white space at its ends. Undefined if the file cannot be read. */
function readText(file: string, most = smallFile): string | undefined {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(most)
      return bytes.toString('utf8', 0, readSync(descriptor, bytes)).trim()
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // The commit is a detail for the operator. The service also runs without it.
    return undefined
  }
}
