/** Numbers from 0 to 1 of a seeded generator (Park and Miller), so that a failure has the same order again. */
export function randomOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
