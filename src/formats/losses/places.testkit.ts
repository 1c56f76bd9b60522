/** True when the place exists in the body, in any reading of its keys. Tries all readings: for small bodies only. */
export function isPlaceOf(body: unknown, place: string): boolean {
  if (place === '') return true;
  if (Array.isArray(body)) {
    const [index, at] = /^\[(\d+)\]\.?/.exec(place) ?? [];
    return index !== undefined && Number(at) < body.length && isPlaceOf(body[Number(at)], place.slice(index.length));
  }
  if (typeof body !== 'object' || body === null) return false;
  return Object.entries(body).some(([key, value]) => {
    const rest = place.startsWith(key) ? place.slice(key.length) : undefined;
    if (rest === undefined || rest === '') return rest === '';
    return rest.startsWith('.') ? isPlaceOf(value, rest.slice(1)) : rest.startsWith('[') && isPlaceOf(value, rest);
  });
}
