// The words of the commands.

/** @satisfies {import('../../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    title: 'Restart, log out, delete',
    hint: 'Each of these asks for the name of the instance first.',
    restart: 'Restart the connection',
    logout: 'Log out',
    remove: 'Delete the instance',
    alsoLogout: 'When deleting, also log out at WhatsApp',
    restartHint: 'The connection to WhatsApp is closed and opened again. The session stays. Messages wait meanwhile.',
    logoutHint: 'The phone forgets this device. To use the instance again, the phone must be linked again.',
    removeHint:
      'The instance and its queues are removed. The phone still lists the device, and an instance of the same name can take up the session.',
    removeLogoutHint: 'The instance and its queues are removed, and the phone forgets this device.',
    working: 'Working …',
  },
  'pt-BR': {
    title: 'Reiniciar, encerrar, excluir',
    hint: 'Cada um destes pede primeiro o nome da instância.',
    restart: 'Reiniciar a conexão',
    logout: 'Encerrar a sessão',
    remove: 'Excluir a instância',
    alsoLogout: 'Ao excluir, encerrar também a sessão no WhatsApp',
    restartHint: 'A conexão com o WhatsApp é fechada e aberta de novo. A sessão fica. As mensagens aguardam.',
    logoutHint: 'O telefone esquece este dispositivo. Para usar a instância de novo, é preciso vincular o telefone.',
    removeHint:
      'A instância e suas filas são removidas. O telefone ainda lista o dispositivo, e uma instância com o mesmo nome pode retomar a sessão.',
    removeLogoutHint: 'A instância e suas filas são removidas, e o telefone esquece este dispositivo.',
    working: 'Trabalhando …',
  },
  es: {
    title: 'Reiniciar, cerrar sesión, eliminar',
    hint: 'Cada una de estas acciones pide antes el nombre de la instancia.',
    restart: 'Reiniciar la conexión',
    logout: 'Cerrar la sesión',
    remove: 'Eliminar la instancia',
    alsoLogout: 'Al eliminar, cerrar también la sesión en WhatsApp',
    restartHint: 'La conexión con WhatsApp se cierra y se abre de nuevo. La sesión queda. Los mensajes esperan.',
    logoutHint: 'El teléfono olvida este dispositivo. Para usar la instancia de nuevo hay que vincular el teléfono.',
    removeHint:
      'La instancia y sus colas se quitan. El teléfono aún muestra el dispositivo, y una instancia del mismo nombre puede retomar la sesión.',
    removeLogoutHint: 'La instancia y sus colas se quitan, y el teléfono olvida este dispositivo.',
    working: 'Trabajando …',
  },
}
