/** What is said of a field that holds what the server would refuse. */

export const fieldText = {
  nul: (field: string, place: number) => `${field} holds a NUL character, at place ${place}, which cannot be sent.`,
  characters: (count: number) => `${count} characters`,
  tooLong: (field: string, limit: string, actual: string) => `${field} is too long: at most ${limit}, it has ${actual}.`,
} as const;
