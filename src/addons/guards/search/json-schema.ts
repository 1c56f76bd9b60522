import { createAjv } from '../../../core/settings/schema/schemas.ts';
import { parseJson } from '../../../formats/json/object.ts';
import { searchWhole, type TextSearch } from './text-search.ts';

/** A whole text that is not JSON, or does not fit the schema, is a match. */
export function searchMisfits(schema: object): TextSearch {
  const validate = createAjv({ trusted: false }).compile(schema);
  return searchWhole((text) => {
    const value = parseJson(text);
    return value === undefined || !validate(value);
  });
}
