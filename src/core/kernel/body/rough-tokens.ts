/** Bytes of a token in English text and JSON, for the models of all vendors. */
const BYTES_PER_TOKEN = 4;

/** A long text that begins so is media as base64, whose tokens its bytes do not tell. */
const SAMPLE_BYTES = 256;
const BASE64 = /^(?:data:[\w.+-]+\/[\w.+-]+(?:;[\w=.+-]+)*;base64,)?[A-Za-z0-9+/_=-]+$/;

/** A picture in the largest size of most models; sound of a minute. */
const MEDIA_TOKENS = 1600;

/** A rough number of the tokens of a JSON body, from its bytes. @param longTexts where each long string begins and ends, with its quotes */
export function roughTokens(bytes: Buffer, longTexts: readonly number[]): number {
  let text = bytes.length;
  let media = 0;
  for (let at = 0; at < longTexts.length; at += 2) {
    const from = longTexts[at]! + 1;
    const length = longTexts[at + 1]! - 1 - from;
    if (length < MEDIA_TOKENS * BYTES_PER_TOKEN || !isBase64(bytes, from)) continue;
    text -= length;
    media += 1;
  }
  return Math.ceil(text / BYTES_PER_TOKEN) + media * MEDIA_TOKENS;
}

const isBase64 = (bytes: Buffer, from: number): boolean =>
  // Some encoders write `/` as `\/`.
  BASE64.test(bytes.toString('latin1', from, from + SAMPLE_BYTES).replaceAll('\\/', '/'));
