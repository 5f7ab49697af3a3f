// The texts of the sign-in page.

/** @satisfies {import('../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'Sign in',
    token: 'API token',
    hint: 'The value of SERVICE_API_TOKEN.',
    submit: 'Sign in',
    wrong: 'This is not the token of the service.',
    tooMany: 'Too many tries. Wait a minute.',
  },
  'pt-BR': {
    title: 'Entrar',
    token: 'Token da API',
    hint: 'O valor de SERVICE_API_TOKEN.',
    submit: 'Entrar',
    wrong: 'Este não é o token do serviço.',
    tooMany: 'Tentativas demais. Espere um minuto.',
  },
  es: {
    title: 'Iniciar sesión',
    token: 'Token de la API',
    hint: 'El valor de SERVICE_API_TOKEN.',
    submit: 'Iniciar sesión',
    wrong: 'Este no es el token del servicio.',
    tooMany: 'Demasiados intentos. Espere un minuto.',
  },
}
