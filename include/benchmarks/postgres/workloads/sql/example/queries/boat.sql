-- The catch of some boats in one summer.
SELECT boat_id, name, sum(fish * weight_kg) AS kg
FROM catches JOIN species USING (name)
WHERE boat_id IN (3, 14, 15, 92, 65) AND caught_on BETWEEN date '2023-06-01' AND date '2023-08-31'
GROUP BY boat_id, name
ORDER BY boat_id, name;
