// The bound of the API for the days of history.

export const mostHistoryDays = 30
