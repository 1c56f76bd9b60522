import type { Problem } from '../kernel/report.ts';
import type { Settings } from '../settings/read/load.ts';

/** Prompts for other add-ons. Documents are valid by the schema of a file of `prompts/`. At most one add-on has it. */
export interface PromptPort {
  /** The mistakes that the schema cannot express, at their paths in the document. */
  check(id: string, file: object, settings: Settings): readonly Problem[];
  /** The digest of a version with its partials. Undefined: there is no such version. */
  digest(file: object, version: number, settings: Settings): string | undefined;
  /** The fields of the chat request. Throws GatewayError for values that the version does not take. */
  render(version: object, variables: Readonly<Record<string, unknown>>, settings: Settings): object;
  /** The text of a file with the document in it, and all other lines as they were. Undefined: it has to be written by hand. */
  write(text: string, file: object): string | undefined;
  /** Why a value does not fit a schema of a variable, or why the schema is none. Undefined: it fits. */
  mistake(schema: object, value: unknown): string | undefined;
}
