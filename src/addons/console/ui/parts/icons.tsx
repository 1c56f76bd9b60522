/** Line drawings of 16 × 16. */
const PATHS = {
  overview: 'M1.5 8h2.6l2-5.5 3.4 11 2-5.5h3',
  requests: 'M2 4h12M2 8h12M2 12h8',
  why: 'M3 3v4a3 3 0 0 0 3 3h7M10 7l3 3-3 3',
  keys: 'M6.5 9.5a3 3 0 1 1 0-4.2 3 3 0 0 1 0 4.2ZM7 9l6 4.5M11 12l1.5-2',
  providers: 'M2 3.5h12v3.5H2zM2 9h12v3.5H2z',
  prompts: 'M2 3h12v8H7l-3 3v-3H2zM5 6h6M5 8.5h4',
  alerts: 'M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.5 14h3',
  plugins: 'M6 2v4M10 2v4M3.5 6h9v3a4.5 4.5 0 0 1-9 0zM8 13.5V15',
  people: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8ZM2.5 14a5.5 5.5 0 0 1 11 0',
  audit: 'M4 2h8v12H4zM6.5 5.5h3M6.5 8h3M6.5 10.5h3',
  configs: 'M4 2v4M4 9v5M8 2v7M8 12v2M12 2v2M12 7v7M2.5 7.5h3M6.5 10.5h3M10.5 5.5h3',
  cost: 'M2 13.5h12M4 11V7M8 11V3M12 11V5.5',
  playground: 'M4 2.5v11l9-5.5z',
  live: 'M8 8h.01',
  file: 'M4 1.5h5.5L13 5v9.5H4z',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

export const Mark = () => (
  <svg width="18" height="18" viewBox="0 0 16 16" aria-hidden="true">
    <path fill="currentcolor" d="M8 1 1 6v9h5v-4a2 2 0 1 1 4 0v4h5V6z" />
  </svg>
);
