export const Overview = () => <p>Overview</p>;
