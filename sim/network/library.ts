// The only import of the client library: its binary codec, its protobufs and the shapes of its credentials.
export { BufferJSON, decodeBinaryNode, encodeBinaryNode, NOISE_MODE, NOISE_WA_HEADER, proto } from 'baileys'
export type { AuthenticationCreds, BinaryNode, SignalDataSet } from 'baileys'
