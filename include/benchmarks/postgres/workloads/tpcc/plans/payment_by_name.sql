SELECT c_id FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_last = 'NAME499' ORDER BY c_first LIMIT 1
