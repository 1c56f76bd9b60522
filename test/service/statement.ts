/** Path of a test file below the repository, and a test title in it as the file has it. */
export type TestOf = readonly [file: string, title: string];

export interface Statement {
  readonly text: string;
  readonly tests: readonly TestOf[];
}

export interface Chapter {
  readonly title: string;
  readonly statements: readonly Statement[];
}

export const of = (text: string, ...tests: readonly TestOf[]): Statement => ({ text, tests });
export const http = (file: string, title: string): TestOf => [`test/http/${file}.test.ts`, title];
export const client = (file: string, title: string): TestOf => [`test/clients/${file}.test.ts`, title];
export const provider = (file: string, title: string): TestOf => [`test/providers/${file}.test.ts`, title];
export const unit = (file: string, title: string): TestOf => [`${file}.test.ts`, title];
