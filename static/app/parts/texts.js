// The words of the shared parts.

/** @satisfies {import('../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    qr_pending: 'Waits for the scan',
    paired: 'Scanned, connecting',
    connecting: 'Connecting',
    connected: 'Connected, catching up',
    ready: 'Ready',
    disconnected: 'Disconnected',
    logged_out: 'Logged out',
    never: 'never',
    working: 'Working …',
    unreachable: 'The service does not answer. Try again.',
  },
  'pt-BR': {
    qr_pending: 'Aguarda a leitura',
    paired: 'Código lido, conectando',
    connecting: 'Conectando',
    connected: 'Conectada, recebendo atrasadas',
    ready: 'Pronta',
    disconnected: 'Desconectada',
    logged_out: 'Sessão encerrada',
    never: 'nunca',
    working: 'Trabalhando …',
    unreachable: 'O serviço não responde. Tente de novo.',
  },
  es: {
    qr_pending: 'Espera el escaneo',
    paired: 'Escaneada, conectando',
    connecting: 'Conectando',
    connected: 'Conectada, poniéndose al día',
    ready: 'Lista',
    disconnected: 'Desconectada',
    logged_out: 'Sesión cerrada',
    never: 'nunca',
    working: 'Trabajando …',
    unreachable: 'El servicio no responde. Inténtelo de nuevo.',
  },
}
