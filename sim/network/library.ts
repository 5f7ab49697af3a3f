// The only import of the client library: its binary codec, its protobufs, its version and the shapes of its credentials.
import { DEFAULT_CONNECTION_CONFIG } from 'baileys'

export { BufferJSON, decodeBinaryNode, encodeBinaryNode, NOISE_MODE, NOISE_WA_HEADER, proto } from 'baileys'
export type { AuthenticationCreds, BinaryNode, SignalDataSet } from 'baileys'

/** The version as which the library introduces itself unless it is told another one. */
export const defaultVersion = DEFAULT_CONNECTION_CONFIG.version
