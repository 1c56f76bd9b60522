import { createAjv } from '../../../core/settings/schema/schemas.ts';
import { NOTHING, type TextSearch } from './text-search.ts';

/** A whole text that is not JSON, or does not fit the schema, is a match. */
export function searchMisfits(schema: object): TextSearch {
  const validate = createAjv({ trusted: false }).compile(schema);
  return {
    in(text) {
      if (fits(text)) return NOTHING;
      let isFound = false;
      return () => {
        if (isFound) return undefined;
        isFound = true;
        return { start: 0, end: text.length, mask: '' };
      };
    },
    decided: undefined,
  };

  function fits(text: string): boolean {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return false;
    }
    return validate(value);
  }
}
