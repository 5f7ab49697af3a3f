// Writes the list of a group's members as the notes that agents read.

import type { Locale } from '../../core/reasons/sentences.ts'
import { fillHeader } from '../people/names.ts'
import { groupTexts } from './group-texts.ts'
import type { NamedMember } from './named-members.ts'

/** In code, so that no character of a name is read as Markdown. */
const memberTemplate = '`$phone · $name`'
const rank: Record<NamedMember['role'], number> = { superadmin: 0, admin: 1, member: 2 }
/** Room for the words above the list. */
const titleLength = 200

/** Administrators come first. Each note has at most `safeLength` characters. */
export function writeMemberList(members: readonly NamedMember[], locale: Locale, safeLength: number): string[] {
  const texts = groupTexts[locale]
  const lines = members
    .toSorted((one, other) => rank[one.role] - rank[other.role])
    .map((member) => {
      const line = `- ${fillHeader(memberTemplate, member)}`
      return member.role === 'member' ? line : `${line} (${texts.roles[member.role]})`
    })
  const blocks = packed(lines, safeLength - titleLength)
  const title = texts.members(members.length)
  return blocks.map((block, index) => {
    const part = blocks.length === 1 ? '' : ` (${texts.part(index + 1, blocks.length)})`
    return `${title}${part}\n\n${block.join('\n')}`
  })
}

/** Fills one block after the other. There is always a first block. */
function packed(lines: readonly string[], blockLength: number): string[][] {
  let block: string[] = []
  let length = 0
  const blocks = [block]
  for (const line of lines) {
    if (length + line.length + 1 > blockLength && block.length > 0) {
      block = []
      length = 0
      blocks.push(block)
    }
    block.push(line)
    length += line.length + 1
  }
  return blocks
}
