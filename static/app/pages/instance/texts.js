// The words of the page of an instance that belong to no section.

/** @satisfies {import('../../lib/languages.js').Texts<Record<string, string>>} */
export const texts = {
  en: {
    missing: 'There is no instance {name}. It may have been deleted.',
    back: 'All instances',
  },
  'pt-BR': {
    missing: 'Não existe a instância {name}. Ela pode ter sido excluída.',
    back: 'Todas as instâncias',
  },
  es: {
    missing: 'No existe la instancia {name}. Puede que se haya eliminado.',
    back: 'Todas las instancias',
  },
}
