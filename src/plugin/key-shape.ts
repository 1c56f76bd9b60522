/**
 * The form of keys that `gatehouse keys create` makes, cut or mistyped ones included: `gatehouse_<12-char id>_<secret>`. The id alone is
 * enough: no vendor's token has it, and a key with a wrong end must be treated as a key.
 */
const KEY_SHAPE = /gatehouse_[a-z0-9]{12}_/i;

/** Whether a text holds the form of a gateway key, live or not. */
export const holdsKeyShape = (text: string): boolean => KEY_SHAPE.test(text);
