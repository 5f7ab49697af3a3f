// Why WhatsApp cannot be reached, and what an operator can do about it, in every language of SERVICE_LOCALE.

import type { Sentences } from './sentences.ts'

export const unreachableReasons = {
  unreachable: {
    en: 'WhatsApp cannot be reached: {reason}. What to do: {cure}',
    es: 'No se puede llegar a WhatsApp: {reason}. Qué hacer: {cure}',
    pt: 'Não é possível alcançar o WhatsApp: {reason}. O que fazer: {cure}',
  },
  nameNotFound: {
    en: 'the host name was not found ({detail})',
    es: 'no se encontró el nombre del servidor ({detail})',
    pt: 'o nome do servidor não foi encontrado ({detail})',
  },
  connectionRefused: {
    en: 'the connection was refused ({detail})',
    es: 'la conexión fue rechazada ({detail})',
    pt: 'a conexão foi recusada ({detail})',
  },
  noRoute: {
    en: 'there is no way to the server ({detail})',
    es: 'no hay camino hasta el servidor ({detail})',
    pt: 'não há caminho até o servidor ({detail})',
  },
  connectTimedOut: {
    en: 'the server did not answer in time ({detail})',
    es: 'el servidor no respondió a tiempo ({detail})',
    pt: 'o servidor não respondeu a tempo ({detail})',
  },
  tlsFailed: {
    en: 'the TLS connection failed ({detail})',
    es: 'la conexión TLS falló ({detail})',
    pt: 'a conexão TLS falhou ({detail})',
  },
  otherServer: {
    en: 'the answer was not that of WhatsApp ({detail})',
    es: 'la respuesta no fue la de WhatsApp ({detail})',
    pt: 'a resposta não foi a do WhatsApp ({detail})',
  },
  notLetIn: {
    en: 'the network did not let us in within 60 s',
    es: 'la red no nos dejó entrar en 60 s',
    pt: 'a rede não nos deixou entrar em 60 s',
  },
  noCode: {
    en: 'the network gave no code within 30 s',
    es: 'la red no dio ningún código en 30 s',
    pt: 'a rede não deu nenhum código em 30 s',
  },
  cureDns: {
    en: 'check the DNS server and the internet connection of this machine',
    es: 'revise el servidor DNS y la conexión a internet de esta máquina',
    pt: 'verifique o servidor DNS e a conexão à internet desta máquina',
  },
  cureFirewall: {
    en: 'let this machine open connections to web.whatsapp.com, port 443, in the firewall, or set SERVICE_NETWORK_PROXY',
    es: 'permita en el cortafuegos que esta máquina se conecte a web.whatsapp.com, puerto 443, o configure SERVICE_NETWORK_PROXY',
    pt: 'permita no firewall que esta máquina se conecte a web.whatsapp.com, porta 443, ou configure SERVICE_NETWORK_PROXY',
  },
  cureInternet: {
    en: 'check the internet connection of this machine',
    es: 'revise la conexión a internet de esta máquina',
    pt: 'verifique a conexão à internet desta máquina',
  },
  cureProxy: {
    en: 'check that the proxy runs and lets this machine through, and that SERVICE_NETWORK_PROXY, or network_proxy of the instance, has the right host, port, user and password',
    es: 'compruebe que el proxy funciona y deja pasar a esta máquina, y que SERVICE_NETWORK_PROXY, o network_proxy de la instancia, tiene el host, el puerto, el usuario y la contraseña correctos',
    pt: 'verifique se o proxy funciona e deixa passar esta máquina, e se SERVICE_NETWORK_PROXY, ou network_proxy da instância, tem o host, a porta, o usuário e a senha corretos',
  },
  cureTls: {
    en: 'check the clock of this machine, and let the firewall or the proxy pass connections to web.whatsapp.com without opening them',
    es: 'revise el reloj de esta máquina, y haga que el cortafuegos o el proxy deje pasar sin abrirlas las conexiones a web.whatsapp.com',
    pt: 'verifique o relógio desta máquina, e faça o firewall ou o proxy deixar passar sem abri-las as conexões a web.whatsapp.com',
  },
  cureBetween: {
    en: 'check what stands between this service and WhatsApp, such as a proxy or a firewall',
    es: 'revise lo que hay entre este servicio y WhatsApp, como un proxy o un cortafuegos',
    pt: 'verifique o que há entre este serviço e o WhatsApp, como um proxy ou um firewall',
  },
  cureElsewhere: {
    en: 'check SERVICE_NETWORK_URL, SERVICE_NETWORK_ROOT_KEY and SERVICE_NETWORK_CA, which name another server than that of WhatsApp, or remove them',
    es: 'revise SERVICE_NETWORK_URL, SERVICE_NETWORK_ROOT_KEY y SERVICE_NETWORK_CA, que nombran otro servidor que el de WhatsApp, o quítelos',
    pt: 'verifique SERVICE_NETWORK_URL, SERVICE_NETWORK_ROOT_KEY e SERVICE_NETWORK_CA, que indicam outro servidor que não o do WhatsApp, ou remova-os',
  },
  cureWait: {
    en: 'wait, because the service tries again by itself',
    es: 'espere, porque el servicio lo intenta de nuevo por sí mismo',
    pt: 'espere, porque o serviço tenta de novo por si mesmo',
  },
} as const satisfies Sentences
