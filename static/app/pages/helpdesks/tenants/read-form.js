// Reads the form of a tenant. An empty secret is left out: the stored one stays.

/** What a test of the helpdesk needs. @param {FormData} form */
export function toAccess(form) {
  const token = String(form.get('token')).trim()
  return {
    downstream_base_url: String(form.get('url')).trim(),
    downstream_account_id: Number(form.get('account')),
    ...(token !== '' && { downstream_api_token: token }),
  }
}

/** What is stored. @param {FormData} form */
export function toSettings(form) {
  const secret = form.get('clear') === null ? String(form.get('secret')) : ''
  const isSecretGiven = secret !== '' || form.get('clear') !== null
  return {
    ...toAccess(form),
    downstream_inbox_id: Number(form.get('inbox')),
    ...(isSecretGiven && { webhook_hmac_secret: secret }),
  }
}
