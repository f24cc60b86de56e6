SELECT coalesce(max(o_id), 1) FROM orders WHERE o_w_id = :w AND o_d_id = :d AND o_c_id = 77
