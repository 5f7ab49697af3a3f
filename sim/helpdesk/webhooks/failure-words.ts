// The texts of failed webhooks, as Ruby's Net::HTTP (since 4.14.0) and RestClient (before) write them.

export type FailureWords = {
  userAgent: string
  openTimeout: string
  readTimeout: string
  explain: (error: NodeJS.ErrnoException, url: URL) => Error
}

export const safeFetchWords: FailureWords = {
  userAgent: 'Ruby',
  openTimeout: 'Net::OpenTimeout',
  readTimeout: 'Net::ReadTimeout with #<TCPSocket:(closed)>',
  explain: (error, url) => explain(error, url, 'end of file reached'),
}

export const restClientWords: FailureWords = {
  userAgent: 'rest-client/2.1.0',
  openTimeout: 'Timed out connecting to server',
  readTimeout: 'Timed out reading data from server',
  explain: (error, url) => explain(error, url, 'Server broke connection'),
}

function explain(error: NodeJS.ErrnoException, { hostname, port }: URL, cut: string): Error {
  const sentence = sentenceFor(error, hostname, port, cut)
  return sentence === undefined ? error : new Error(sentence, { cause: error })
}

function sentenceFor({ code, message }: NodeJS.ErrnoException, host: string, port: string, cut: string) {
  const tls = `SSL_connect returned=1 errno=0 peeraddr=${host} state=error:`
  if (code === 'ECONNREFUSED') {
    return `Failed to open TCP connection to ${host}:${port} (Connection refused - connect(2) for "${host}" port ${port})`
  }
  if (code === 'ECONNRESET') return cut
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `Could not resolve hostname '${host}'`
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT') return `${tls} certificate verify failed (self-signed certificate)`
  return message.includes('wrong version number') ? `${tls} wrong version number` : undefined
}
