// The texts of the wizard's frame and of its first step.

/** @satisfies {import('../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'New instance',
    steps: 'Steps',
    step_name: 'Name',
    step_helpdesk: 'Helpdesk',
    step_inbox: 'Inbox',
    step_link: 'Phone',
    step_try: 'First messages',
    next: 'Next',
    back: 'Back',
    nameTitle: 'What is the name of this WhatsApp account?',
    name: 'Name of the instance',
    nameHint:
      'Letters, digits, dots, dashes and underscores, at most 64. The name is part of addresses and of the log.',
    nameWrong:
      'The name begins with a letter or a digit and has at most 64 letters, digits, dots, dashes and underscores. It is not "bulk".',
    nameTaken: 'There is an instance called {name} already.',
    nameLink: 'Link the phone of {name}',
  },
  'pt-BR': {
    title: 'Nova instância',
    steps: 'Passos',
    step_name: 'Nome',
    step_helpdesk: 'Central',
    step_inbox: 'Caixa de entrada',
    step_link: 'Telefone',
    step_try: 'Primeiras mensagens',
    next: 'Avançar',
    back: 'Voltar',
    nameTitle: 'Qual é o nome desta conta do WhatsApp?',
    name: 'Nome da instância',
    nameHint:
      'Letras, dígitos, pontos, hífens e sublinhados, no máximo 64. O nome faz parte de endereços e do registro.',
    nameWrong:
      'O nome começa com uma letra ou um dígito e tem no máximo 64 letras, dígitos, pontos, hífens e sublinhados. Não pode ser "bulk".',
    nameTaken: 'Já existe uma instância chamada {name}.',
    nameLink: 'Vincular o telefone de {name}',
  },
  es: {
    title: 'Nueva instancia',
    steps: 'Pasos',
    step_name: 'Nombre',
    step_helpdesk: 'Mesa de ayuda',
    step_inbox: 'Bandeja de entrada',
    step_link: 'Teléfono',
    step_try: 'Primeros mensajes',
    next: 'Siguiente',
    back: 'Atrás',
    nameTitle: '¿Cómo se llama esta cuenta de WhatsApp?',
    name: 'Nombre de la instancia',
    nameHint:
      'Letras, dígitos, puntos, guiones y guiones bajos, 64 como máximo. El nombre forma parte de direcciones y del registro.',
    nameWrong:
      'El nombre empieza por una letra o un dígito y tiene como máximo 64 letras, dígitos, puntos, guiones y guiones bajos. No puede ser "bulk".',
    nameTaken: 'Ya hay una instancia llamada {name}.',
    nameLink: 'Vincular el teléfono de {name}',
  },
}
