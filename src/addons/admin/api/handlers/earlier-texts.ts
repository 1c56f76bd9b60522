import { isScalar, parseDocument, visit } from 'yaml';
import { hasMember } from '../../../../formats/json/object.ts';
import { isTextField } from '../../../../core/settings/query/compared.ts';

/** Members of a body that bring texts of earlier requests of the key into this one. */
const EARLIER = new Set(['previous_response_id', 'conversation', 'file_id', 'input_file_id', 'file_uri', 'fileUri']);

/** Whether the request has more texts than those of its caller. @param body as JSON.parse returns it */
export const continuesEarlier = (body: unknown): boolean => hasMember(body, EARLIER);

/** Whether a settings file compares texts of requests: its answers would tell them, a piece at a time. */
export function comparesTexts(file: string): boolean {
  let found = false;
  visit(parseDocument(file, { logLevel: 'silent' }), (_, node) => {
    if (!isScalar(node) || typeof node.value !== 'string' || !isTextField(node.value)) return undefined;
    found = true;
    return visit.BREAK;
  });
  return found;
}
