// Hides the lists of WhatsApp that are no labels: unread chats, favourites and so on.
//
// WhatsApp stores them like labels, with a type. The library emits them as labels and drops the type. Here they become deleted
// labels: nothing shows them, and a new label does not get the id of a list, which would overwrite the list on the phone.

import { proto } from '../library.ts'

const { ListType } = proto.SyncActionValue.LabelEditAction
/** Labels of the owner, and those that WhatsApp suggests. Labels from before there were lists have no type. */
const labelTypes: readonly unknown[] = [undefined, null, ListType.NONE, ListType.PREDEFINED, ListType.CUSTOM]

export function hideChatLists(): void {
  const decode = proto.SyncActionData.decode.bind(proto.SyncActionData)
  proto.SyncActionData.decode = (bytes, length) => {
    const action = decode(bytes, length)
    const edit = action.value?.labelEditAction
    if (edit && !labelTypes.includes(edit.type)) edit.deleted = true
    return action
  }
}
