import type { CheckName } from '../settings/check-options.ts';
import { INJECTIONS } from './injection.ts';
import { searchMisfits } from './json-schema.ts';
import { searchFolded } from './folded.ts';
import { searchPii, type PiiKind } from './pii.ts';
import { searchRegex, type RegexOptions } from './regex.ts';
import { searchRules } from './rules.ts';
import { searchSecrets } from './secrets.ts';
import type { TextSearch } from './text-search.ts';
import { searchBroken, type TextRules } from './whole-text.ts';
import { searchWords } from './words.ts';

type Options = Readonly<Record<string, unknown>>;

/** Options have passed the schema of their check. */
const SEARCHES: Readonly<Partial<Record<CheckName, (options: Options) => TextSearch>>> = {
  regex: (options) => searchRegex(options as unknown as RegexOptions),
  words: ({ words, mask }) => searchFolded(searchWords(words as readonly string[], String(mask))),
  pii: ({ kinds, countries }) =>
    searchFolded(searchPii(kinds as readonly PiiKind[], countries as readonly string[] | undefined)),
  secrets: () => searchFolded(searchSecrets()),
  injection: () => searchFolded(searchRules(INJECTIONS)),
  text: (options) => searchBroken(options as unknown as TextRules),
  json_schema: ({ schema }) => searchMisfits(schema as object),
};

/** The search of a check of texts. Undefined: the check is of another kind. */
export const searchFor = (check: CheckName, options: Options): TextSearch | undefined => SEARCHES[check]?.(options);
