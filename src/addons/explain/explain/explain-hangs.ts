/** A plugin did not end; the message names it. */
export class ExplainHangs extends Error {
  override readonly name = 'ExplainHangs';
}
