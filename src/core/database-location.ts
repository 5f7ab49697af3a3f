// Where the data is: a SQLite file or a PostgreSQL server.

export type DatabaseLocation = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }
