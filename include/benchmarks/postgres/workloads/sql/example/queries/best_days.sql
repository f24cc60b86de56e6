-- The ten best days.
SELECT caught_on, sum(fish) AS fish FROM catches GROUP BY caught_on ORDER BY fish DESC, caught_on LIMIT 10;
